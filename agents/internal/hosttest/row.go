package hosttest

import (
	"encoding/json"
	"fmt"
)

// Row is a row of the table of `make bench`. Goal is a bound such as "<= 3", empty without one.
type Row struct {
	Name   string  `json:"name"`
	Value  float64 `json:"value"`
	Unit   string  `json:"unit"`
	Goal   string  `json:"goal,omitempty"`
	Remark string  `json:"remark,omitempty"`
}

// Print writes the row as backend/bench/all.py reads it.
func (r Row) Print() {
	line, err := json.Marshal(r)
	if err != nil {
		panic(err) // a benchmark that has measured NaN
	}
	fmt.Printf("\n%s\n", line)
}
