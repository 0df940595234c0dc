/* SPDX-License-Identifier: MIT
 *
 * environment.h: variables of the environment, for all of Heddle.  A program that runs with more rights
 * than its caller has (setuid, setgid, capabilities) sees none of them: they name libraries to open and
 * files to load. */
#ifndef BASE_ENVIRONMENT_H
#define BASE_ENVIRONMENT_H

const char *environment(const char *name); /* NULL: not set, or not to be trusted */

#endif
