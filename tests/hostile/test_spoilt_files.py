"""Every format that comes from outside, spoilt in every way there is: the program reads the file or refuses it in one
sentence, within the memory and time that formats.py states, and writes nothing. `make test-long` goes on for hours."""

import dataclasses

import pytest
from formats import COMPARED, FORMATS

# What a sound file may end in: success, or an answer about two studies.
READ = {(0, 1, 2): (0,), COMPARED: (0, 3)}


@pytest.mark.parametrize("name", FORMATS)
def test_sound_files_are_read(farm, needs_plugin, name):
    """Else their spoilt copies would show nothing."""
    needs_plugin(name)
    form = FORMATS[name]
    for content in form.sound(farm.kit):
        for command in form.commands:
            assert farm.try_content(dataclasses.replace(form, codes=READ[form.codes]), content, command) == []


@pytest.mark.parametrize("name", FORMATS)
def test_spoilt_files(farm, needs_plugin, name):
    needs_plugin(name)
    failures = farm.try_cases(name, range(FORMATS[name].cases))
    assert not failures, "\n".join(failures)
