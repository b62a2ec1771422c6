"""What the codecs hand out."""

from tests.fixtures.rooms import changeable


def test_no_record_of_a_codec_can_be_changed() -> None:
    assert changeable("codec") == []
