# SPDX-License-Identifier: Apache-2.0
"""The build backend of pyproject.toml (PEP 517, PEP 660): cmake builds the package, this packs it into a wheel.

It needs the standard library, cmake and a C compiler, so that `pip install .` works without a network.
"""
import base64
import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def _project():
    with open(ROOT / "pyproject.toml", "rb") as file:
        return tomllib.load(file)["project"]


def _tag():
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return f"cp311-abi3-{platform}"


def _metadata(project):
    lines = ["Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {project['version']}",
             f"Summary: {project['description']}", f"Requires-Python: {project['requires-python']}",
             f"License: {project['license']['text']}"]
    for extra, packages in project["optional-dependencies"].items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f"Requires-Dist: {package}; extra == '{extra}'" for package in packages]
    return "\n".join(lines) + "\n"


def _build(folder):
    """The package's files under folder/python/tribo; a folder that is configured already stays as it is."""
    options = ["-DCMAKE_BUILD_TYPE=Release", "-DTRIBO_COMMAND=OFF", "-DTRIBO_TESTS=OFF", "-DTRIBO_EXAMPLES=OFF",
               "-DTRIBO_SHARED=OFF", "-DTRIBO_INSTALL=OFF", "-DTRIBO_PYTHON=ON", f"-DPython3_EXECUTABLE={sys.executable}"]
    configure = ["cmake", "-S", str(ROOT), "-B", str(folder), *options]
    for command in ([] if (folder / "CMakeCache.txt").exists() else [configure]) + [
                    ["cmake", "--build", str(folder), "--target", "tribo_python", "-j", str(os.cpu_count() or 1)]]:
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if result.returncode:
            raise SystemExit(f"{' '.join(command)}\n{result.stdout[-4000:]}")
    return folder / "python" / "tribo"


def _info(project):
    """The dist-info folder of a wheel: its name, and name → bytes."""
    wheel = f"Wheel-Version: 1.0\nGenerator: tribo\nRoot-Is-Purelib: false\nTag: {_tag()}\n"
    return (f"{project['name']}-{project['version']}.dist-info",
            {"METADATA": _metadata(project).encode(), "WHEEL": wheel.encode()})


def _pack(path, files, project):
    """Writes a wheel; files: name in it → bytes."""
    info, texts = _info(project)
    files.update({f"{info}/{name}": data for name, data in texts.items()})
    record = ""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, data in sorted(files.items()):
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))  # the same bytes from the same files
            entry.external_attr, entry.compress_type = 0o644 << 16, zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record += f"{name},sha256={digest},{len(data)}\n"
        wheel.writestr(f"{info}/RECORD", record + f"{info}/RECORD,,\n")


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    project = _project()
    name = f"{project['name']}-{project['version']}-{_tag()}.whl"
    given = (config_settings or {}).get("build-dir")  # pip install . --config-settings build-dir=build
    folder = Path(given).resolve() if given else Path(tempfile.mkdtemp(prefix="tribo-wheel-"))
    try:
        package = _build(folder)
        files = {f"tribo/{file.name}": file.read_bytes() for file in package.iterdir() if file.is_file()}
        _pack(Path(wheel_directory) / name, files, project)
    finally:
        if not given:
            shutil.rmtree(folder, ignore_errors=True)
    return name


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """The package from the build folder: `make python` brings it up to date."""
    project = _project()
    name = f"{project['name']}-{project['version']}-{_tag()}.whl"
    package = _build(ROOT / "build")
    _pack(Path(wheel_directory) / name, {"tribo.pth": f"{package.parent}\n".encode()}, project)
    return name


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    """Without this pip builds the wheel to learn the metadata, and calls the minutes that takes "Preparing metadata"."""
    info, texts = _info(_project())
    folder = Path(metadata_directory) / info
    folder.mkdir()
    for name, data in texts.items():
        (folder / name).write_bytes(data)
    return info


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


def build_sdist(sdist_directory, config_settings=None):
    project = _project()
    base = f"{project['name']}-{project['version']}"
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
    with tarfile.open(Path(sdist_directory) / f"{base}.tar.gz", "w:gz") as archive:
        for name in listed.splitlines():
            archive.add(ROOT / name, f"{base}/{name}")
    return f"{base}.tar.gz"


def get_requires_for_build_wheel(config_settings=None):
    return []


get_requires_for_build_editable = get_requires_for_build_sdist = get_requires_for_build_wheel
