// Package settings changes the host settings of docs/agent-protocol.md section 4, and no others, and puts them back.
//
// The order of things is its purpose: old values reach the disk before the first change, so that after any crash
// Restore finds what it needs.
package settings
