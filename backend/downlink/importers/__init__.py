"""Foreign files to our arrays: iperf3, ndt7, M-Lab tcp-info, flent and per-ACK CSV. Bytes in, frozen traces out; nothing is stored here."""
