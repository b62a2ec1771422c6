// Package protocol mirrors the messages of docs/agent-protocol.md. It has no behaviour beyond encoding them.
package protocol
