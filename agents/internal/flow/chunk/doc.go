// Package chunk encodes samples as docs/data-format.md section 1 says: one zstd frame of a JSON line and delta-encoded columns.
package chunk
