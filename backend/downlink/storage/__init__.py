"""The only SQL: tables, unit of work, and queries per noun."""
