package protocol

// ObservationsRequest says what the agent saw of its link over time. No link stands for every one that it receives for.
type ObservationsRequest struct {
	Link         *string         `json:"link"`
	Observations []ObservedValue `json:"observations"`
}

// ObservedValue is one value of a quantity at a moment.
type ObservedValue struct {
	Quantity string  `json:"quantity"`
	Unit     string  `json:"unit"`
	Source   string  `json:"source"`
	At       Moment  `json:"at"`
	Value    float64 `json:"value"`
}

// ObservationsHold says whether observations should wait for the end of a run of others.
type ObservationsHold struct {
	Hold bool `json:"hold"`
}

// ObservationsReply answers them. Without Stored it is not the server's.
type ObservationsReply struct {
	Stored       *int           `json:"stored"`
	RefusedCount int            `json:"refused_count,omitempty"`
	Refused      []RefusedValue `json:"refused,omitempty"` // the first ones
}

// RefusedValue is one that the server never takes. Place counts from 0 in the request.
type RefusedValue struct {
	Place   int    `json:"place"`
	Code    string `json:"code"`
	Message string `json:"message"`
}
