// Package transfer moves the bytes of one flow, over a transport that is a Carrier. TCP is one: a data port that answers
// only to tickets, a sending and a receiving loop.
//
// It reads no settings and takes no samples; what must happen at a connection is given to it as Hooks.
package transfer
