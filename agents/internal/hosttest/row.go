package hosttest

import (
	"encoding/json"
	"fmt"
	"os"
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
	fmt.Println() // after what `go test` says of the benchmark that runs
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(r); err != nil {
		panic(err) // a benchmark that has measured NaN
	}
}
