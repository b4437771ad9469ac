/* run_options.h - options that `starling launch` and `starling simulate` share: fields of struct
 * sl_launch_options, with which their options begin. */
#pragma once

#include "tools/lib/option.h"

extern const struct sl_option sl_run_options[];
