/* check.h - the ranges and rules that a message keeps: the decoder refuses a message that breaks one, and the
 * encoder asserts that ours keep them.
 *
 * The field lists of message.h state the range of each field alone. Rules between fields stand in check.c:
 *
 *   LinkState, Round p is 0 or > 2; iterations_rule = 1 needs k >= 1
 *   LinkState        candidates strictly ascending from 1
 *   Request          for a result: a and origin are 0; for a deposit: t, a and origin are not 0
 *   Abort            without a Ready both promises
 *   Have             both sets have the same size
 *   Opening          a key share and the hashes of its path
 *   Checksum         numbers of 8 bytes
 *   Round            at least two members, their ids strictly ascending from 1
 *   Share, Result    iteration 0, origin 0
 *   State            iteration from 1, origin 0
 *   Deposit          iteration 0, origin not 0
 *   KeyShare         iteration 0, origin 0, index 0; a key share and the hashes of its path
 *
 * The decoder checks the lengths of hashes, which the structs fix. Whether a value fits the current run is
 * for the core to decide.
 */
#pragma once

#include "common/protocol/message.h"

/* Return NULL or, as a constant string, the reason why `message` is invalid. Do not look at chunk.bytes. */
const char *sl_check_message(const struct sl_message *message);
