"""Agents, their hosts and what hosts can do."""
