// Package pause is the switch of a host's owner: while it is on, or while the host's quiet hours last, the agent takes no
// run, whatever the server orders.
package pause
