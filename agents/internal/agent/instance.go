package agent

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"

	"downlink/agents/internal/agent/config"
	"downlink/agents/internal/host"
)

const instanceBytes = 16

// instanceOf says which start of the agent this is, and where it lives: the boot and the identity's own file. A lock keeps two agents
// from running in one state folder, so that a new start in the same place ends the one before; a copied folder is another place.
func instanceOf(c config.Config, bootID string) (string, error) {
	place, err := host.FilePlace(config.IdentityPath(c.StateDir))
	if err != nil {
		return "", err
	}
	seat := sha256.Sum256([]byte(bootID + " " + place))
	start := make([]byte, instanceBytes)
	_, _ = rand.Read(start) // never fails
	return hex.EncodeToString(start) + " " + hex.EncodeToString(seat[:instanceBytes]), nil
}
