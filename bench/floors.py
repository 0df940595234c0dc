#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Is any run faster than memory allows?  bench/floors.py RECORDS... [--most PERCENT]

Looks at every verified run in files that `heddle bench --json` wrote and names those that reached more than
PERCENT (105) of the floor of their own bytes, with the highest share on each device.  Exits with 1 if there
are any, or if no run has a floor.
"""
import argparse
import json
import lzma
import sys


def runs(paths):
    for path in paths:
        with (lzma.open(path, "rt", encoding="utf-8") if path.endswith(".xz")
              else open(path, encoding="utf-8")) as file:
            for number, line in enumerate(file, 1):
                record = json.loads(line)
                if record.get("record") == "run" and record.get("verified"):
                    yield path, number, record


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", nargs="+")
    parser.add_argument("--most", type=float, default=105, help="percent of the floor (105)")
    arguments = parser.parse_args()
    seen, without, above, highest = 0, 0, 0, {}
    for path, number, run in runs(arguments.records):
        share = run.get("of_own_floor")
        if share is None:
            without += 1
            continue
        seen += 1
        device = f"{run['device']} {run['isa']}"
        what = f"{run['matrix']} {run['value']} {run['op']} {run['kernel']}"
        highest[device] = max(highest.get(device, (0, "")), (share, what))
        if 100 * share > arguments.most:
            above += 1
            print(f"{path}:{number}: {what}: {100 * share:.1f} % of the floor of its own bytes, "
                  f"{run['warm_ms']:.4g} ms ± {50 * (run['spread'] or 0):.1f} %")
    for device, (share, what) in sorted(highest.items()):
        print(f"{device}: at most {100 * share:.1f} % ({what})")
    print(f"{seen} verified runs with a floor, {above} above {arguments.most:g} %; {without} without")
    return 1 if above or not seen else 0


if __name__ == "__main__":
    sys.exit(main())
