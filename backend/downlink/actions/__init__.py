"""One function per verb, called by the API and by jobs alike."""
