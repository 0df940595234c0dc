# SPDX-License-Identifier: MIT
"""One mutant, from its text to a verdict: the objects that have its file in them, compiled into a folder of
their own, the test programs linked with these before the library's, and the tests run until one fails, or
takes far longer than it does in the build as it is."""
import json
import math
import os
import re
import resource
import shlex
import shutil
import subprocess
import sys
import threading

HOOKED = '-DSIMT_HOOKED'
LAUNCHERS = ('ccache', 'sccache', 'distcc')


class Build:
    """What a build folder knows: how objects are made and programs linked."""

    def __init__(self, source, folder):
        self.source, self.folder = source, folder
        self.units = []
        for entry in json.load(open(f'{folder}/compile_commands.json')):
            words = shlex.split(entry['command'])
            words = words[os.path.basename(words[0]) in LAUNCHERS:]
            out = os.path.normpath(os.path.join(entry['directory'], words[words.index('-o') + 1]))
            path = os.path.relpath(entry['file'], source)
            if path.startswith('src/') and '/tests/CMakeFiles/planted' not in out:
                self.units.append({'path': path, 'words': words, 'directory': entry['directory'],
                                   'object': out})
        self.includes = {}

    def included(self, path):
        """The files that a file includes, and theirs."""
        if path not in self.includes:
            self.includes[path] = set()
            direct = re.findall(r'^\s*#\s*include "([^"]+)"', open(f'{self.source}/{path}').read(),
                                flags=re.M)
            for name in direct:
                for at in (f'src/{name}', f'{os.path.dirname(path)}/{name}'):
                    if os.path.exists(f'{self.source}/{at}'):
                        self.includes[path] |= {at} | self.included(at)
                        break
        return self.includes[path]

    def units_with(self, path):
        return [u for u in self.units if u['path'] == path or path in self.included(u['path'])]

    def link_words(self, program):
        """The words that link a test program, and the folder to do it in."""
        text = f'{self.folder}/tests/CMakeFiles/{program}.dir/link.txt'
        if os.path.exists(text): # of make
            return shlex.split(open(text).read()), f'{self.folder}/tests'
        lines = subprocess.run(['ninja', '-C', self.folder, '-t', 'commands', '-s', f'tests/{program}'],
                               check=True, capture_output=True, text=True).stdout.strip().splitlines()
        words = shlex.split(lines[-1])
        return [w for w in words if w not in (':', '&&')], self.folder


def limits(seconds):
    def set_them():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return set_them


def environment_of(folder, kernels, name):
    """The surroundings of a test program that works in a folder.  One test runs in its long form."""
    env = dict(os.environ, HEDDLE_TEST_FIRST='1', OMP_WAIT_POLICY='passive', OMP_NUM_THREADS='2',
               NO_COLOR='1', TMPDIR=folder, HEDDLE_TEST_KERNELS=kernels)
    for unset in ('HEDDLE_SLOW_TESTS', 'HEDDLE_TEST_DEVICES') + (() if kernels else ('HEDDLE_TEST_KERNELS',)):
        env.pop(unset, None)
    if name == 'multiplied_on_cpus': # does nothing else
        env['HEDDLE_SLOW_TESTS'] = '1'
    return env


class Healthy:
    """The steps on the build as it is, each run once, when it is first asked for, for all jobs, and again
    when its program has changed."""

    def __init__(self, build):
        self.build, self.path = build, f'{build.folder}/mutants/healthy.json'
        self.known = json.load(open(self.path)) if os.path.exists(self.path) else {}
        self.lock, self.of_step = threading.Lock(), {}

    def seconds(self, program, name, kernels):
        """CPU seconds that a mutant may take; None where the step fails without any, and so says nothing."""
        made = os.stat(f'{self.build.folder}/tests/{program}').st_mtime_ns
        step = f'{program} {name} ({kernels}) {made}'
        with self.lock:
            of_step = self.of_step.setdefault(step, threading.Lock())
        with of_step: # others may run meanwhile
            if step not in self.known:
                seconds = self.run(program, name, kernels)
                with self.lock, open(self.path, 'w') as f:
                    self.known[step] = seconds
                    json.dump({s: n for s, n in self.known.items() if n}, f)
        return self.known[step]

    def run(self, program, name, kernels):
        folder = f'{self.build.folder}/mutants/healthy{threading.get_ident()}'
        os.makedirs(folder, exist_ok=True)
        words = [f'{self.build.folder}/tests/{program}'] + ([name] if name else [])
        done = subprocess.run(['bash', '-c', 'TIMEFORMAT="%U %S"; time "$@"', 'time'] + words, cwd=folder,
                              env=environment_of(folder, kernels, name), capture_output=True, text=True,
                              errors='replace')
        shutil.rmtree(folder)
        if done.returncode != 0:
            print(f'without any mutant {" ".join(words)} fails: it is left out\n{done.stderr}',
                  file=sys.stderr, flush=True)
            return None
        return math.ceil(5 + 3 * sum(float(s) for s in done.stderr.split()[-2:]))


def listen(process, seconds):
    """What a program says; None, and it is ended, where that takes longer.  Time for which someone has
    stopped it (SIGSTOP) does not count."""
    while True:
        try:
            return process.communicate(timeout=1)[0]
        except subprocess.TimeoutExpired:
            with open(f'/proc/{process.pid}/stat') as f:
                seconds -= f.read().rpartition(')')[2].split()[0] != 'T'
        if seconds < 0:
            process.kill()
            process.communicate()
            return None


class Plant:
    """A folder in which one mutant after the other is tried."""

    def __init__(self, build, scratch, healthy):
        self.build, self.scratch, self.healthy = build, scratch, healthy

    def write(self, mutant, text):
        shutil.rmtree(self.scratch, ignore_errors=True)
        os.makedirs(f'{self.scratch}/{os.path.dirname(mutant["path"])}')
        with open(f'{self.scratch}/{mutant["path"]}', 'w') as f:
            f.write(text[:mutant['begin']] + mutant['new'] + text[mutant['end']:])

    def compile(self, mutant, units, folder):
        """The objects made; None: it is no program."""
        made = {}
        os.makedirs(f'{self.scratch}/{folder}')
        for number, u in enumerate(units):
            out = f'{self.scratch}/{folder}/{number}.o'
            words = list(u['words'])
            words[words.index('-o') + 1] = out
            if u['path'] == mutant['path']:
                words[words.index('-c') + 1] = f'{self.scratch}/{u["path"]}'
            words[1:1] = ['-w', f'-I{self.scratch}/src', f'-fmacro-prefix-map={self.scratch}/=']
            if subprocess.run(words, cwd=u['directory'], capture_output=True).returncode != 0:
                return None
            made[u['object']] = out
        return made

    def same(self, made):
        """Did the compiler make the same code of it?"""
        for old, new in made.items():
            if open(old, 'rb').read() != open(new, 'rb').read():
                return False
        return True

    def hook(self, made):
        """pages_hooked.o, with new objects in the place of some."""
        out = f'{self.scratch}/pages_hooked.o'
        objects = [made.get(u['object'], u['object']) for u in self.build.units if HOOKED in u['words']]
        syms = f'--redefine-syms={self.build.source}/src/gpu/emu_hooks.syms'
        subprocess.run(['ld', '-r', '-o', out] + objects, check=True, capture_output=True)
        subprocess.run(['objcopy', syms, out], check=True, capture_output=True)
        return out

    def link(self, program, plain, hooked):
        words, folder = self.build.link_words(program)
        at = words.index('-o')
        words[at + 1] = out = f'{self.scratch}/{program}'
        if hooked:
            words = [hooked if w.endswith('pages_hooked.o') else w for w in words]
        words[at + 2:at + 2] = plain
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
        return out if done.returncode == 0 else None

    def test(self, program, name, kernels, seconds):
        """What noticed: None when nothing did."""
        words = [program] + ([name] if name else [])
        done = subprocess.Popen(words, env=environment_of(self.scratch, kernels, name), cwd=self.scratch,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                errors='replace', preexec_fn=limits(seconds))
        said = listen(done, 30 + 4 * seconds)
        if said is None:
            return 'it does not end'
        if done.returncode == 0:
            return None
        if done.returncode < 0:
            return 'it does not end' if done.returncode in (-24, -9) else f'signal {-done.returncode}'
        failed = re.findall(r'^FAILED (\w+)|^  \S*?(tests/\S+:\d+)', said, flags=re.M)
        return ''.join(failed[0]) if failed else 'it fails'

    def try_one(self, mutant, text, steps):
        """verdict, by what.  steps: (program, test, kernels, with hooks), the quickest first."""
        self.write(mutant, text)
        units = self.build.units_with(mutant['path'])
        first = [u for u in units if HOOKED not in u['words']]
        plain = self.compile(mutant, first, 'plain')
        if plain is None or not units:
            return 'no program', ''
        if self.same(plain):
            return 'same code', ''
        hooked, programs = None, {}
        for program, name, kernels, hooks in steps:
            seconds = self.healthy.seconds(program, name, kernels)
            if not seconds:
                continue
            later = [u for u in units if HOOKED in u['words']]
            if hooks and later and not hooked:
                made = self.compile(mutant, later, 'hooked')
                hooked = self.hook(made) if made else None
                programs = {}
            if program not in programs:
                programs[program] = self.link(program, list(plain.values()), hooked)
                if not programs[program]:
                    return 'no program', ''
            by = self.test(programs[program], name, kernels, seconds)
            if by:
                return 'caught', f'{program}: {by}'
        return 'missed', ''
