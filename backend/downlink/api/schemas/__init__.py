"""Bodies and answers of the REST API (docs/api.md), one module per noun."""
