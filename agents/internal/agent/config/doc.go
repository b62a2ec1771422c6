// Package config reads the agent's configuration file and identity. reference.yaml documents every key.
package config
