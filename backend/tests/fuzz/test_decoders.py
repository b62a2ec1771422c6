"""Whatever comes, a decoder answers or refuses in a sentence: no other error, no hang, no memory that the input's size does not explain.

20 mutants of each corpus in the quick proof, 150 in the long one, both drawn by PROOF_SEED; `make fuzz` goes on for 30 s with each
decoder (FUZZ_S), from FUZZ_SEED on.
"""

from __future__ import annotations

import os
import time

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import SearchStrategy

from tests.fixtures.proofs import SEED
from tests.fuzz.decoders import REFUSALS, Decoder, decoders
from tests.fuzz.mutating import mutants

FUZZ_S = float(os.environ.get("FUZZ_S", "0"))
FIRST_SEED = int(os.environ.get("FUZZ_SEED", SEED))
EXAMPLES = 500 if FUZZ_S else 150 if os.environ.get("PROOF_ALL") == "1" else 20
SLOW_S = 5.0
pytestmark = [pytest.mark.sampled("faults", one_of=1), pytest.mark.timeout(120 + 4 * FUZZ_S)]
DECODERS = decoders()


def judge(decoder: Decoder, content: bytes) -> None:
    began = time.process_time()
    said: Exception | None = None
    try:
        decoder.decode(decoder.wrap(content))
    except REFUSALS as refusal:
        said = refusal
    assert said is None or str(said), "a refusal without a sentence"
    assert time.process_time() - began < SLOW_S, "a small input holds up everybody"


def rounds(decoder: Decoder, drawn: SearchStrategy[bytes], number: int, examples: int) -> None:
    """So many mutants, drawn by a seed."""

    @seed(number)
    @settings(
        max_examples=examples, database=None, deadline=None, derandomize=False,
        phases=[Phase.generate, Phase.shrink], suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(drawn)
    def one(content: bytes) -> None:
        judge(decoder, content)

    one()


def fuzz(decoder: Decoder, drawn: SearchStrategy[bytes], examples: int = EXAMPLES) -> None:
    """Once, or for as long as FUZZ_S says."""
    ends, number = time.monotonic() + FUZZ_S, FIRST_SEED
    while True:
        rounds(decoder, drawn, number, examples)
        number += 1
        if time.monotonic() >= ends:
            break
    print(f"{decoder.name}: {examples * (number - FIRST_SEED)} mutants, seeds {FIRST_SEED} to {number - 1}")


@pytest.mark.parametrize("decoder", DECODERS, ids=lambda decoder: decoder.name)
def test_a_decoder_answers_or_refuses(decoder: Decoder) -> None:
    assert decoder.corpus
    for content in decoder.corpus:
        decoder.decode(decoder.wrap(content))
    fuzz(decoder, mutants(decoder.corpus))
