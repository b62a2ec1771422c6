// Package causes asks in virtual time why a published value is not ours: one thing of a link, window or sender is changed
// at a time, and what would have been measured is put beside what was published. Nothing is chosen by it: the profiles stay
// as they are. docs/reproduction/causes-modelled.md is what it prints.
package causes
