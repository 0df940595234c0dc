/* SPDX-License-Identifier: MIT
 *
 * collective_emu.h: on the emulator every function of collective.h leaves the line that calls it, so that
 * errors name the page and lanes that call it from different lines are found. */
#ifndef SIMT_COLLECTIVE_EMU_H
#define SIMT_COLLECTIVE_EMU_H

#define wave_sum(...) SIMT_CALLED(wave_sum(__VA_ARGS__))
#define wave_max(...) SIMT_CALLED(wave_max(__VA_ARGS__))
#define wave_scan(...) SIMT_CALLED(wave_scan(__VA_ARGS__))
#define wave_scan_before(...) SIMT_CALLED(wave_scan_before(__VA_ARGS__))
#define wave_segment_scan(...) SIMT_CALLED(wave_segment_scan(__VA_ARGS__))
#define block_sum(...) SIMT_CALLED(block_sum(__VA_ARGS__))
#define block_max(...) SIMT_CALLED(block_max(__VA_ARGS__))
#define block_scan_before(...) SIMT_CALLED(block_scan_before(__VA_ARGS__))
#define wave_sum_int(...) SIMT_CALLED(wave_sum_int(__VA_ARGS__))
#define wave_max_int(...) SIMT_CALLED(wave_max_int(__VA_ARGS__))
#define wave_scan_int(...) SIMT_CALLED(wave_scan_int(__VA_ARGS__))
#define wave_scan_before_int(...) SIMT_CALLED(wave_scan_before_int(__VA_ARGS__))
#define wave_segment_scan_int(...) SIMT_CALLED(wave_segment_scan_int(__VA_ARGS__))
#define block_sum_int(...) SIMT_CALLED(block_sum_int(__VA_ARGS__))
#define block_max_int(...) SIMT_CALLED(block_max_int(__VA_ARGS__))
#define block_scan_before_int(...) SIMT_CALLED(block_scan_before_int(__VA_ARGS__))
#define wave_sum_long(...) SIMT_CALLED(wave_sum_long(__VA_ARGS__))
#define wave_max_long(...) SIMT_CALLED(wave_max_long(__VA_ARGS__))
#define wave_scan_long(...) SIMT_CALLED(wave_scan_long(__VA_ARGS__))
#define wave_scan_before_long(...) SIMT_CALLED(wave_scan_before_long(__VA_ARGS__))
#define wave_segment_scan_long(...) SIMT_CALLED(wave_segment_scan_long(__VA_ARGS__))
#define block_sum_long(...) SIMT_CALLED(block_sum_long(__VA_ARGS__))
#define block_max_long(...) SIMT_CALLED(block_max_long(__VA_ARGS__))
#define block_scan_before_long(...) SIMT_CALLED(block_scan_before_long(__VA_ARGS__))

#endif
