#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/schema.py SCHEMA RECORDS...: is every line of the files valid?  By jsonschema where it is installed
(PyPI, or python3-jsonschema of Debian), else by a validator of the keywords that docs/record.schema.json
uses."""
import json
import re
import sys

TYPES = {"object": dict, "array": list, "string": str, "number": (int, float), "integer": int,
         "boolean": bool,
         "null": type(None)}


class Small:
    """Just the keywords in use; one that is not known is an error, so that the schema cannot outgrow it
    unnoticed."""

    PASSED_OVER = {"$schema", "$defs", "title", "description", "then", "else"}

    def __init__(self, schema):
        self.root = schema

    def good(self, value, schema):
        return all(self.keyword(key, schema, value) for key in schema if key not in self.PASSED_OVER)

    def keyword(self, key, schema, value):
        want, number = schema[key], isinstance(value, (int, float)) and not isinstance(value, bool)
        if key == "type":
            return any(isinstance(value, TYPES[t]) and (t == "boolean" or not isinstance(value, bool))
                       for t in ([want] if isinstance(want, str) else want))
        if key == "properties":
            return not isinstance(value, dict) or all(k not in value or self.good(value[k], s)
                                                      for k, s in want.items())
        if key == "if":
            return self.good(value, schema.get("then" if self.good(value, want) else "else", {}))
        if key == "$ref":
            return self.good(value, self.root["$defs"][want.rsplit("/", 1)[1]])
        return {"required": lambda: not isinstance(value, dict) or all(k in value for k in want),
                "const": lambda: value == want and isinstance(value, bool) == isinstance(want, bool),
                "enum": lambda: value in want,
                "minimum": lambda: not number or value >= want,
                "maximum": lambda: not number or value <= want,
                "exclusiveMinimum": lambda: not number or value > want,
                "maxItems": lambda: not isinstance(value, list) or len(value) <= want,
                "items": lambda: not isinstance(value, list) or all(self.good(v, want) for v in value),
                "pattern": lambda: not isinstance(value, str) or re.search(want, value) is not None,
                "oneOf": lambda: sum(self.good(value, s) for s in want) == 1,
                "allOf": lambda: all(self.good(value, s) for s in want)}[key]()

    def is_valid(self, value):
        return self.good(value, self.root)


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        schema = json.load(f)
    validators = [Small(schema)]
    try:
        import jsonschema
        jsonschema.Draft202012Validator.check_schema(schema)
        validators.append(jsonschema.Draft202012Validator(schema))
    except (ImportError, AttributeError):
        pass
    lines = bad = 0
    for path in sys.argv[2:]:
        with open(path, encoding="utf-8") as f:
            for number, line in enumerate(f, 1):
                lines += 1
                try:
                    record = json.loads(line)
                except ValueError as error:
                    print(f"{path}:{number}: {error}")
                    bad += 1
                    continue
                said = [v.is_valid(record) for v in validators]
                if not all(said):
                    print(f"{path}:{number}: not valid "
                          f"({', '.join(type(v).__name__ for v, s in zip(validators, said) if not s)})")
                    bad += 1
    print(f"{lines} lines, {bad} not valid")
    return 1 if bad or lines == 0 else 0


sys.exit(main())
