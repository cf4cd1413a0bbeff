#!/usr/bin/env python3
"""torture.py RESTRIDE DISK ROUNDS [JOBS] [SEED]: changes of files with a journal, by the command line, in trouble.

Each round changes one array: a transposition, another order of axes, another layout, or records; raw or .npy. DISK is
disk.c as a library: it ends the process or fails at a chosen call, and takes back what was not synchronised. The rounds
count what happened; one in which a byte is wrong, or a file is half done and nothing says so, is lost. The last line is
the summary, and the status is 0 when nothing was lost.
"""
import collections
import ctypes
import multiprocessing
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

DIES, FAILS, FULL, SHORT = range(4)
NEVER, DIED = 1 << 30, 7
TYPES = {"u8": 1, "i16": 2, "f32": 4, "f64": 8, "c128": 16}


class Lost(Exception):
    pass


def read(path):
    with open(path, "rb") as file:
        return file.read()


def npy(descr, shape, data):
    header = "{'descr': %r, 'fortran_order': False, 'shape': %r, }" % (descr, shape)
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def pick_transposition(rng):
    name = rng.choice(list(TYPES))
    rank = rng.choice([2, 2, 3, 4])
    most = {2: 90, 3: 20, 4: 9}[rank]
    shape = tuple(rng.randint(1, most) for _ in range(rank))
    data = rng.randbytes(TYPES[name] * product(shape))
    axes = []
    if rank > 2 or rng.random() < 0.3:
        order = list(range(rank))
        rng.shuffle(order)
        axes = ["--axes", ",".join(map(str, order))]
    kind = "permute" if axes else "transpose"
    if rng.random() < 0.5:
        types = {"u8": "|u1", "i16": "<i2", "f32": "<f4", "f64": "<f8", "c128": "<c16"}
        return kind + " .npy", npy(types[name], shape, data), ["transpose"], axes
    return kind + " raw", data, ["transpose"], ["--shape", "x".join(map(str, shape)), "--dtype", name] + axes


def product(numbers):
    result = 1
    for number in numbers:
        result *= number
    return result


def pick_layouts(rng):
    tile = rng.choice([2, 7, 16, 32])
    layouts = ["i f", "f i", f"i/{tile} f i%{tile}"]
    return rng.sample(layouts, 2)


def pick_records(rng):
    members = [("a", "<f4", "float", 4), ("b", "<f8", "double", 8), ("c", "|u1", "unsigned char", 1),
               ("d", "<i2", "short", 2)]
    chosen = rng.sample(members, rng.randint(2, 4))
    count = rng.randint(2, 2000)
    source, target = pick_layouts(rng)
    options = ["--from", source, "--to", target]
    if rng.random() < 0.6:
        data = rng.randbytes(sum(m[3] for m in chosen) * count)
        return "records .npy", npy([(m[0], m[1]) for m in chosen], (count,), data), ["convert"], options
    chosen = [members[0], members[0]] if rng.random() < 0.3 else chosen
    fields = " ".join(f"{m[2]} {m[0]}{i};" for i, m in enumerate(chosen))
    size = 0
    for m in chosen:
        size = (size + m[3] - 1) // m[3] * m[3] + m[3]
    widest = max(m[3] for m in chosen)
    size = (size + widest - 1) // widest * widest
    return "records raw", rng.randbytes(size * count), ["convert"], ["--dims", f"i:{count} f{{ {fields} }}"] + options


def pick_conversion(rng):
    rows, cols = rng.randint(2, 400), rng.randint(2, 40)
    name = rng.choice(list(TYPES))
    source, target = pick_layouts(rng)
    return ("convert raw", rng.randbytes(rows * cols * TYPES[name]), ["convert"],
            ["--dims", f"i:{rows} f:{cols}", "--dtype", name, "--from", source, "--to", target])


class Round:
    def __init__(self, work, disk, restride, library, seed):
        self.rng = random.Random(seed)
        self.restride, self.library, self.disk = restride, library, disk
        self.folder = os.path.join(work, "d")
        self.scratch = os.path.join(work, "scratch")
        for folder in (self.folder, self.scratch):
            shutil.rmtree(folder, ignore_errors=True)
        os.mkdir(self.folder)
        os.mkdir(self.scratch)
        self.seen = collections.Counter()
        self.no_attributes = self.rng.random() < 0.2
        pick = self.rng.choice([pick_transposition, pick_transposition, pick_records, pick_records, pick_conversion])
        self.kind, self.data, self.verb, self.options = pick(self.rng)
        self.seen[self.kind] += 1
        self.memory = ["--memory", self.rng.choice(["8K", "32K", "128K"])]
        self.path = os.path.join(self.folder, "a")
        self.journal = os.path.join(self.folder, "j")
        self.wanted = self.change_plainly()
        self.put(self.path)
        self.begin()

    def put(self, path, data=None):
        with open(path, "wb") as file:
            file.write(self.data if data is None else data)

    def begin(self):
        self.disk.disk_begin(self.folder.encode(), ctypes.c_bool(False))

    def change_plainly(self):
        path = os.path.join(self.scratch, "a")
        for memory in (self.memory, []):
            self.put(path)
            run = subprocess.run([self.restride] + self.verb + [path] + self.options + memory, capture_output=True)
            if run.returncode == 0:
                self.memory = memory
                return read(path)
        raise Lost(f"without a journal: {run.stderr.decode()}")

    def command(self, path=None, journal=None):
        return [self.restride] + self.verb + [path or self.path] + self.options + self.memory + [
            "--journal", journal or self.journal]

    def environment(self, call, action):
        orders = f"{self.folder} {call} {action} {int(self.no_attributes)} {self.rng.getrandbits(60)}"
        return dict(os.environ, LD_PRELOAD=self.library, RESTRIDE_TEST_DISK=orders)

    def run(self, call=NEVER, action=DIES, path=None, journal=None):
        run = subprocess.run(self.command(path, journal), capture_output=True, env=self.environment(call, action))
        self.error = run.stderr.decode()
        self.output = run.stdout.decode()
        if run.returncode not in (0, 1, DIED):
            raise Lost(f"status {run.returncode}: {self.error}")
        return run.returncode

    def kill(self):
        """A process that is killed from outside, wherever it is."""
        process = subprocess.Popen(self.command(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   env=self.environment(NEVER, DIES))
        time.sleep(self.rng.random() * 0.02)
        process.send_signal(signal.SIGKILL)
        return process.wait()

    def lose_power(self):
        ctypes.c_uint64.in_dll(self.disk, "disk_seed").value = self.rng.getrandbits(60)
        self.disk.disk_lose_power()
        self.seen["losses of power"] += 1

    def status(self):
        run = subprocess.run([self.restride, "file-status", self.path], capture_output=True)
        if run.returncode != 0:
            raise Lost(f"file-status: {run.stderr.decode()}")
        return run.stdout.decode()

    def check_between(self):
        now = read(self.path)
        if now not in (self.data, self.wanted) and "half done" not in self.status():
            raise Lost(f"half done, and told as {self.status()}")

    def check_done(self, path=None, journal=None):
        path = path or self.path
        if read(path) != self.wanted:
            raise Lost("the result is wrong")
        if not os.path.exists(journal or self.journal):
            return  # nothing was to be moved
        if self.run(path=path, journal=journal) != 0 or "already done" not in self.output:
            raise Lost(f"not told as done: {self.output}{self.error}")
        if read(path) != self.wanted:
            raise Lost("changed twice")
        self.seen["told as done"] += 1

    def interrupt(self, rounds):
        """Kills, losses of power and failing calls; True when the change is complete."""
        for i in range(rounds):
            if self.rng.random() < 0.15:
                status = self.kill()
                self.seen["kills from outside"] += status != 0
            else:
                action = self.rng.choice([DIES, DIES, DIES, FAILS, FULL, SHORT])
                status = self.run(self.rng.randrange(6 + i * i * 2 + i), action)
                self.seen["kills"] += status == DIED
                self.seen["failing calls"] += status == 1
            if self.rng.random() < 0.5:
                self.lose_power()
            self.check_between()
            if status == 0:
                return True
        return False

    def finish(self):
        if self.run() != 0:
            raise Lost(f"does not come to its end: {self.error}")
        self.check_done()

    def refuse(self, why):
        before = read(self.path)
        if self.run() == 0 or read(self.path) != before:
            raise Lost(f"not refused: {why}")
        self.seen["refused: " + why] += 1

    # ---- what can happen ----

    def in_any_order(self):
        self.interrupt(self.rng.randint(1, 8))
        self.finish()

    def forget(self):
        subprocess.run([self.restride, "file-status", "--forget", self.path], check=True, capture_output=True)
        if os.path.exists(self.journal):
            os.unlink(self.journal)
        self.begin()

    def restored_backup(self):
        self.interrupt(self.rng.randint(1, 5))
        if self.rng.random() < 0.5:
            self.put(self.path)
        else:
            self.put(self.path + ".new")
            os.rename(self.path + ".new", self.path)
        self.begin()
        self.seen["restored backups"] += 1
        if self.run() == 0:
            if read(self.path) != self.wanted and self.data != self.wanted:
                raise Lost("a journal was applied to a backup")
        else:
            if read(self.path) != self.data:
                raise Lost("a backup was changed and refused")
            self.seen["refused: another content"] += 1
            self.forget()
            self.finish()

    def other_owner(self):
        self.interrupt(self.rng.randint(1, 4))
        if os.path.exists(self.journal):
            self.seen["other owners"] += 1
            if os.geteuid() == 0 and self.rng.random() < 0.5:
                os.chown(self.journal, 12345, 12345)
                self.refuse("another owner")
                os.chown(self.journal, 0, 0)
            else:
                os.chmod(self.journal, self.rng.choice([0o620, 0o602, 0o666]))
                self.refuse("writable by others")
                os.chmod(self.journal, 0o600)
        self.finish()

    def unrelated_file(self):
        text = self.rng.randbytes(self.rng.randrange(3000))
        self.put(self.journal, text)
        self.refuse("no journal")
        if read(self.journal) != text:
            raise Lost("an unrelated file was overwritten")
        os.unlink(self.journal)
        self.begin()
        self.finish()

    def lost_journal(self):
        self.interrupt(self.rng.randint(1, 4))
        if os.path.exists(self.journal) and read(self.path) not in (self.data, self.wanted):
            os.unlink(self.journal)
            self.refuse("without its journal")
        self.put(self.path)
        self.forget()
        self.finish()

    def two_runs(self):
        other = os.path.join(self.folder, "b")
        self.put(other)
        self.begin()
        self.seen["two runs"] += 1
        call = self.rng.randrange(60) if self.rng.random() < 0.3 else NEVER
        first = subprocess.Popen(self.command(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                 env=self.environment(call, DIES))
        time.sleep(self.rng.random() * 0.01)
        second = self.run(path=other)
        error = self.error
        first.communicate()
        statuses = (first.returncode, second)
        if statuses.count(0) > 1 and os.path.exists(self.journal) and self.data != self.wanted:
            raise Lost("both runs have had one journal")
        if second == 1 and read(other) != self.data:
            raise Lost(f"the run that was refused has changed its file: {error}")
        if second == 0:
            if first.returncode == 1 and read(self.path) != self.data:
                raise Lost("the run that was refused has changed its file")
            journal = self.journal + "2"
            if self.run(journal=journal) != 0:
                raise Lost(f"the other run does not come to its end: {self.error}")
            self.check_done(journal=journal)
            self.check_done(path=other)
        else:
            self.finish()
            if self.run(path=other, journal=self.journal + "2") != 0:
                raise Lost(f"the other run does not come to its end: {self.error}")
            self.check_done(path=other, journal=self.journal + "2")

    def renamed_file(self):
        self.interrupt(self.rng.randint(1, 4))
        other = os.path.join(self.folder, "c")
        if not self.no_attributes:
            os.rename(self.path, other)
            self.path = other
            self.begin()
            self.seen["renamed files"] += 1
        self.finish()


EVENTS = [Round.in_any_order] * 8 + [Round.two_runs, Round.restored_backup, Round.restored_backup, Round.other_owner,
                                     Round.lost_journal, Round.unrelated_file, Round.renamed_file]


def torture(task):
    restride, library, seeds = task
    work = tempfile.mkdtemp(prefix="restride-torture-")
    disk = ctypes.CDLL(library)
    seen = collections.Counter()
    try:
        for seed in seeds:
            one = Round(work, disk, restride, library, seed)
            try:
                one.rng.choice(EVENTS)(one)
            except Lost as lost:
                seen["LOST"] += 1
                print(f"round {seed}, {one.kind}: {lost}\n    {' '.join(one.command())}", flush=True)
            seen += one.seen
            seen["rounds"] += 1
    finally:
        shutil.rmtree(work)
    return seen


def main():
    restride, library, rounds = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), int(sys.argv[3])
    jobs = int(sys.argv[4]) if len(sys.argv) > 4 else 2
    first = int(sys.argv[5]) if len(sys.argv) > 5 else 1
    os.environ["RESTRIDE_WISDOM"] = ""
    seeds = range(first, first + rounds)
    tasks = [(restride, library, seeds[i : i + 50]) for i in range(0, rounds, 50)]
    seen = collections.Counter()
    with multiprocessing.Pool(jobs) as pool:
        for some in pool.imap_unordered(torture, tasks):
            seen += some
    lost, count = seen.pop("LOST", 0), seen.pop("rounds", 0)
    print(f"{count} rounds: " + ", ".join(f"{seen[name]} {name}" for name in sorted(seen)) + f"; {lost} lost")
    return 0 if lost == 0 and count == rounds else 1


if __name__ == "__main__":
    sys.exit(main())
