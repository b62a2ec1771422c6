package hosttest

import (
	"encoding/json"
	"fmt"
	"os"
)

// Row is a row of the table of `make bench`. Goal is a bound such as "<= 3", empty without one. Band is the least and the most
// that the value has been so far, nil without one.
type Row struct {
	Name   string    `json:"name"`
	Value  float64   `json:"value"`
	Unit   string    `json:"unit"`
	Goal   string    `json:"goal,omitempty"`
	Remark string    `json:"remark,omitempty"`
	Band   []float64 `json:"band,omitempty"`
}

// Size is how much a benchmark does: tiny where BENCH_TINY=1 only asks whether it runs, and what it measures says nothing.
func Size[T any](full, tiny T) T {
	if os.Getenv("BENCH_TINY") == "1" {
		return tiny
	}
	return full
}

// Print writes the row as backend/bench/rows.py reads it.
func (r Row) Print() {
	fmt.Println() // after what `go test` says of the benchmark that runs
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(r); err != nil {
		panic(err) // a benchmark that has measured NaN
	}
}
