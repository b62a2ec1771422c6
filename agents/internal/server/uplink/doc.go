// Package uplink is the agent's side of the control channel: polls, events that survive a restart, chunk uploads, and the server's clock.
package uplink
