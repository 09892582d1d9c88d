"""What is a valid SARIF log, as far as kotef writes one?"""

SARIF = {
    "type": "object",
    "required": ["version", "runs"],
    "additionalProperties": False,
    "properties": {
        "$schema": {"type": "string", "format": "uri"},
        "version": {"const": "2.1.0"},
        "runs": {"type": "array", "items": {"$ref": "#/$defs/run"}},
    },
    "$defs": {
        "run": {
            "required": ["tool", "results"],
            "additionalProperties": False,
            "properties": {
                "tool": {
                    "required": ["driver"],
                    "properties": {
                        "driver": {"required": ["name"], "properties": {"rules": {"items": {"required": ["id"]}}}}
                    },
                },
                "automationDetails": {"required": ["id"], "properties": {"id": {"type": "string", "minLength": 1}}},
                "invocations": {"items": {"$ref": "#/$defs/invocation"}},
                "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                "originalUriBaseIds": {"type": "object"},
                "results": {"type": "array", "items": {"$ref": "#/$defs/result"}},
            },
        },
        "invocation": {
            "required": ["executionSuccessful"],
            "additionalProperties": False,
            "properties": {
                "executionSuccessful": {"type": "boolean"},
                "exitCode": {"type": "integer"},
                "exitCodeDescription": {"type": "string"},
                "startTimeUtc": {"type": "string", "pattern": "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?Z$"},
                "endTimeUtc": {"type": "string", "pattern": "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?Z$"},
                "properties": {"type": "object"},
            },
        },
        "result": {
            "required": ["message"],
            "additionalProperties": False,
            "properties": {
                "ruleId": {"type": "string", "minLength": 1},
                "ruleIndex": {"type": "integer", "minimum": 0},
                "kind": {"enum": ["notApplicable", "pass", "fail", "review", "open", "informational"]},
                "level": {"enum": ["none", "note", "warning", "error"]},
                "message": {"required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}},
                "locations": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/location"}},
                "partialFingerprints": {"type": "object", "additionalProperties": {"type": "string"}},
                "occurrenceCount": {"type": "integer", "minimum": 1},
                "properties": {"type": "object"},
            },
        },
        "location": {
            "required": ["physicalLocation"],
            "properties": {
                "physicalLocation": {
                    "required": ["artifactLocation"],
                    "properties": {
                        "artifactLocation": {
                            "required": ["uri"],
                            "properties": {"uri": {"type": "string", "pattern": "^[^/ ][^ ]*$"}},
                        },
                        "region": {"properties": {"startLine": {"type": "integer", "minimum": 1}}},
                    },
                }
            },
        },
    },
}
"""The part of the schema of SARIF 2.1.0 (section 3) that kotef writes, and nothing else allowed."""
