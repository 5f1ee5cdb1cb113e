"""Builds the wheel: maturin's, with the program `maskwright` among its scripts.

A wheel of maturin has either an extension module or programs. Here cargo builds the program first, with the options that maturin is given,
and maturin finds it in the directory of files that a wheel installs beside the package.

    pip install ./python
    pip wheel ./python --no-deps --config-settings build-args="--profile dev --locked"
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import maturin

# Where this runs, as PEP 517 has it.
PACKAGE = Path.cwd()
HARNESS = PACKAGE.parent / "harness" / "Cargo.toml"
# maturin's name for the directory, by the name of the module.
DATA = PACKAGE / "maskwright._native.data"

# Options of maturin that cargo takes too: those with a value, and those without.
WITH_VALUE = ("--profile", "--target", "--target-dir", "--jobs", "-j")
ALONE = ("--locked", "--offline", "--frozen")


def build_wheel(
    wheel_directory: str, config_settings: dict[str, Any] | None = None, metadata_directory: str | None = None
) -> str:
    """Builds the wheel with the program. `build-args` among the settings are options of maturin."""
    with _program(maturin.get_maturin_pep517_args(config_settings)):
        return maturin.build_wheel(wheel_directory, config_settings, metadata_directory)


build_editable = maturin.build_editable
get_requires_for_build_wheel = maturin.get_requires_for_build_wheel
get_requires_for_build_editable = maturin.get_requires_for_build_editable
prepare_metadata_for_build_wheel = maturin.prepare_metadata_for_build_wheel
prepare_metadata_for_build_editable = maturin.prepare_metadata_for_build_editable


class UnsupportedOperation(Exception):
    """What is asked for is not done here."""


def build_sdist(sdist_directory: str, config_settings: dict[str, Any] | None = None) -> str:
    """Raises `UnsupportedOperation`: the program is built from the whole repository, which is the source."""
    raise UnsupportedOperation("there is no source distribution: build the wheel from a clone of the repository")


def _cargo_options(arguments: list[str]) -> list[str]:
    """Those of maturin's options that say how the program is built. An optimised build unless a profile is named, as with maturin."""
    options = []
    words = iter(arguments)
    for word in words:
        if word in WITH_VALUE:
            options += [word, next(words, "")]
        elif word in ALONE or word.startswith(tuple(f"{name}=" for name in WITH_VALUE)):
            options.append(word)
    if not any(option.split("=")[0] == "--profile" for option in options):
        options.append("--release")
    return options


@contextmanager
def _program(arguments: list[str]) -> Iterator[None]:
    """Puts the program where maturin looks for scripts, until the wheel is built."""
    cargo = ["cargo", "build", "--manifest-path", str(HARNESS), "--bin", "maskwright", "--message-format", "json-render-diagnostics"]
    built = subprocess.run([*cargo, *_cargo_options(arguments)], check=True, stdout=subprocess.PIPE, text=True)
    messages = [json.loads(line) for line in built.stdout.splitlines()]
    (executable,) = [message["executable"] for message in messages if message.get("executable")]
    scripts = DATA / "scripts"
    scripts.mkdir(parents=True, exist_ok=True)
    try:
        shutil.copy2(executable, scripts)
        yield
    finally:
        shutil.rmtree(DATA)
