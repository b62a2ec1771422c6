"""Starts and stops the processes of one machine's Downlink: servers, api, conductor, worker, and the demo's agents."""
