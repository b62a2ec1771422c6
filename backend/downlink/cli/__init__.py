"""The command line's client side: everything it does goes through the REST API (docs/cli.md)."""
