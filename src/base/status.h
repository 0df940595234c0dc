/* SPDX-License-Identifier: MIT
 *
 * status.h: how a failure travels.  The function that finds it calls fail(), which keeps the text for
 * heddle_last_error() and gives the status back; everyone between there and the API passes the status on
 * with TRY. */
#ifndef BASE_STATUS_H
#define BASE_STATUS_H

#include "heddle.h"

/* Keeps the formatted text for this thread, fit for a terminal and on one line, and returns `status`. */
heddle_status fail(heddle_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Puts "where: " in front of the kept text (a file name in front of a message about its contents); returns
 * `status`. */
heddle_status fail_in(heddle_status status, const char *where);

/* An attempt that fails inside a call which succeeds in another way leaves no text: keep it before, put it
 * back after. */
struct error_text {
    char text[1024];
};
void error_keep(struct error_text *kept);
void error_put_back(const struct error_text *kept);

/* One exit, one clean-up: the caller has `heddle_status status` and a label `done`. */
#define TRY(call)                                                                                            \
    do {                                                                                                     \
        if ((status = (call)) != HEDDLE_OK)                                                                  \
            goto done;                                                                                       \
    } while (0)

#endif
