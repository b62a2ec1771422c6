"""Messages exchanged with agents (docs/agent-protocol.md); no behaviour."""
