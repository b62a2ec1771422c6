// Package spool keeps chunks on disk until the backend has acknowledged them.
package spool
