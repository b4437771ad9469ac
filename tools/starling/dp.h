/* dp.h - the verbs of `starling dp`. */
#pragma once

int sl_dp_plan(int argc, char **argv);
