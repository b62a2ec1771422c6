// Package pump moves packets over an emulated link. It is what the pure nodes of package emulate must not have: a clock, a thread
// and devices. Namespaces and wires around them are those of package netlab.
package pump
