// Package agent is the loop around everything: it tells the server what the agent is doing and does what the server orders.
package agent
