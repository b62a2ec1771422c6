import hashlib

from downlink.domain.links.weather import LinkWindow, link_seed, link_window

WRITTEN = [7182081664788930, 4718869738118966, 5590599869097119]


def test_a_seed_is_that_of_its_campaign_s_seed_and_cycle_for_ever() -> None:
    assert link_seed(1, 1) == int(hashlib.sha256(b"downlink link 1 1 1").hexdigest(), 16) >> (256 - 53)
    # Written down: archives and papers name them.
    assert [link_seed(1, 1), link_seed(1, 2), link_seed(2, 1)] == WRITTEN


def test_seeds_differ_between_cycles_and_campaigns_and_fit_into_json() -> None:
    seeds = {link_seed(seed, cycle) for seed in range(50) for cycle in range(1, 51)}
    assert len(seeds) == 2_500
    assert max(seeds) < 2**53
    assert max(seeds) > 2**52


def test_windows_are_of_a_cycle_and_as_long_as_the_longest_run() -> None:
    assert [link_window(cycle, 24, [90.0, 120.5]) for cycle in (1, 24)] == [
        LinkWindow(0, 24, 120.5),
        LinkWindow(23, 24, 120.5),
    ]
