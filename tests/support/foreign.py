"""Specs as other tools write them, in small."""

from pathlib import Path

SPEC = """\
# Feature Specification: Sums that are right

**Feature Branch**: `001-sums`
**Status**: Draft

<!-- ACTION REQUIRED: fill this in -->

## User Scenarios & Testing *(mandatory)*

### User Story 1 - Add two numbers (Priority: P1)

A clerk adds two amounts.

**Independent Test**: call `add` with two numbers.

**Acceptance Scenarios**:

1. **Given** two amounts, **When** they are added,
   **Then** the sum is shown
2. **Given** nothing, **When** it is added, **Then** nothing changes

### User Story 2 - Subtract (Priority: P2)

A clerk takes one amount from another.

### Edge Cases

- Very large amounts

## Requirements *(mandatory)*

- **FR-001**: The sum MUST be exact
- **FR-002**: Rounding is [NEEDS CLARIFICATION: up or to even?]

## Success Criteria

- **SC-001**: No wrong sum in a year
"""
PLAN = """\
# Implementation Plan: Sums

## Summary

Mend the operator in `calc.py`.

## Verification

```sh
python -m unittest -q
```
"""
TASKS = """\
---
description: "Task list"
---

# Tasks: Sums that are right

## Format: `[ID] [P?] [Story] Description`

- **[P]**: may run in parallel

## Phase 1: Setup

- [x] T001 Make the project

## Phase 3: User Story 1 - Add (Priority: P1)

**Goal**: adding works

- [ ] T002 [P] [US1] Mend the operator in calc.py
- [ ] T003 [P] [US1] All tests pass (depends on T002)
  and stay so
- [ ] T004 [US2] Write docs/sums.md (depends on T001, T099)

```text
- [ ] T900 no task, but an example
```
"""
REQUIREMENTS = """\
# Requirements Document

## Introduction

The cart shows a total.

## Requirements

### Requirement 1: Totals

**User Story:** As a buyer, I want a total, so that I know what I pay.

#### Acceptance Criteria

1. WHEN an item is added THEN THE SYSTEM SHALL show the new total
2. IF the cart is empty THEN THE SYSTEM SHALL show nothing

### Requirement 2

#### Acceptance Criteria

1. WHEN a voucher is given THE SYSTEM SHALL
   take it off
"""
DESIGN = """\
# Design Document

## Overview

One function, `add`, in `calc.py`.

## Error Handling

Wrong input raises.
"""
PLAN_OF_KIRO = """\
# Implementation Plan

- [x] 1. Set up the project
- [ ] 2. Show a total
  - [ ] 2.1 All tests pass
    - Mend `add` in `calc.py`
    - _Requirements: 1.1, 2_
  - [ ]* 2.2 Write a property test
    - _Requirements: 1.2_
- [-] 3. Vouchers
"""


def spec_kit(root: Path, name: str = "001-sums", **other: str) -> Path:
    """A feature of spec-kit; `plan="…"` replaces plan.md, and so on."""
    return _folder(root / "specs" / name, {"spec": SPEC, "plan": PLAN, "tasks": TASKS} | other)


def kiro(root: Path, name: str = "cart-total", **other: str) -> Path:
    """A spec of Kiro."""
    files = {"requirements": REQUIREMENTS, "design": DESIGN, "tasks": PLAN_OF_KIRO} | other
    return _folder(root / ".kiro" / "specs" / name, files)


def _folder(folder: Path, files: dict[str, str]) -> Path:
    folder.mkdir(parents=True)
    for name, text in files.items():
        if text:
            (folder / f"{name}.md").write_text(text)
    return folder
