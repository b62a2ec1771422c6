"""Starts and stops the processes of one machine's Downlink: servers, api, worker, beat, and the demo's agents."""
