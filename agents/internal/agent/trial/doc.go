// Package trial carries out one run at one agent, in order, and undoes it in reverse.
package trial
