// Package volume counts what a host has moved in its owner's month and says what is left of it. The count is on this host
// alone: no order of the server changes it.
package volume
