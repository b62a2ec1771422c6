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

// ObservationsReply answers them. Without Stored it is not the server's.
type ObservationsReply struct {
	Stored *int `json:"stored"`
}
