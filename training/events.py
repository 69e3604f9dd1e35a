"""TensorBoard's file of a run."""

import os
import socket
import time
from pathlib import Path
from typing import Any

from stable_baselines3.common.logger import KVWriter
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter


class EventFile(KVWriter):
    """Numbers go into a file that TensorBoard reads, one event a dump.

    The library's own writer hands them to a thread, whose errors are seen late and printed as tracebacks. Here a full disk is
    an `OSError` of the call that met it, and names the file. The file is open only while it is written.
    """

    def __init__(self, folder: Path) -> None:
        """A new file in the folder, which is made if need be."""
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / f"events.out.tfevents.{time.time_ns()}.{socket.gethostname()}.{os.getpid()}"
        self._append(Event(file_version="brain.Event:2"))

    def write(self, key_values: dict[str, Any], key_excluded: dict[str, tuple[str, ...]], step: int = 0) -> None:
        """The file ends with these numbers, as of `step`. Raises `OSError`."""
        shown = {key: value for key, value in key_values.items() if "tensorboard" not in (key_excluded[key] or ())}
        numbers = [Summary.Value(tag=key, simple_value=float(value)) for key, value in sorted(shown.items())]
        self._append(Event(step=step, summary=Summary(value=numbers)))

    def close(self) -> None:
        """Nothing is held open."""

    def _append(self, event: Event) -> None:
        event.wall_time = time.time()
        try:
            with self.path.open("ab") as file:
                RecordWriter(file).write(event.SerializeToString())
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self.path)) from error
