/* service.h - what the service manager is told of this process (sd_notify(3)): that it is ready, how it is,
 * and that it is alive. Without a service manager, as at a terminal, each call has no effect. */
#pragma once

#include <stdint.h>

/* Say that the process is ready, after a start or after sl_service_reloading. */
void sl_service_ready(void);
/* Say that the process reads its files again, or starts itself again. */
void sl_service_reloading(void);
/* Say that the process ends. */
void sl_service_stopping(void);
/* Show the first line of `text` as the status of the process. */
void sl_service_status(const char *text);
/* Say that the process makes progress. */
void sl_service_alive(void);
/* Return after how many ms without sl_service_alive the service manager ends this process; 0: never. */
uint64_t sl_service_watchdog_ms(void);
