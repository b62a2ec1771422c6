// Package host reads the facts of a host that a run's numbers may depend on. It changes nothing.
package host
