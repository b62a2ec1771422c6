"""What the REST API takes and gives (docs/api.md), one module per noun."""
