"""Events and notifications."""
