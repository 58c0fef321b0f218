/// What Swift cannot do: stand between Foundation and libcurl, and read and write frames.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The descriptor by which the host and this process exchange frames.
enum { runtime_socket = 3 };

/// The longest frame that the host sends, in bytes, without its length.
enum { runtime_maximum_frame = 4 << 20 };

/// The longest frame that the host accepts, in bytes, without its length.
enum { runtime_maximum_sent = 1 << 20 };

/// Makes this process end with the thread that started it, and keeps the socket from its children.
///
/// - Returns: whether the descriptor `runtime_socket` is a socket.
bool runtime_begin(void);

/// Writes a frame: its length in four bytes, its kind in one byte, and the content, in this
/// machine's byte order. Waits until the host takes it. Any thread may call it.
///
/// - Returns: false if the host is gone.
bool runtime_write(uint8_t kind, const void *_Nullable content, size_t count);

/// Reads a frame, and waits for it.
///
/// - Parameter content: receives the kind and the content, which the caller frees.
/// - Returns: the number of bytes, at least 1; -1 if the host is gone or the frame is invalid.
long runtime_read(uint8_t *_Nullable *_Nonnull content);

/// What to do with the transfers of Foundation's URLSession.
typedef struct {
  /// The file with the root certificates; null for the system's.
  const char *_Nullable roots;
  /// Where all hosts are reached, as libcurl's CURLOPT_CONNECT_TO expects it; null for themselves.
  const char *_Nullable connect_to;
  /// The schemes that may be used, as CURLOPT_PROTOCOLS_STR expects them; null for all.
  const char *_Nullable schemes;
  /// Whether only public addresses may be reached.
  bool public_only;
  /// Whether only this machine's own addresses may be reached.
  bool loopback_only;
} runtime_network;

/// Sets what applies to every later transfer. The strings must remain valid.
void runtime_set_network(runtime_network network);

/// Allows the addresses of a network although they are not public. At most 64 networks are kept.
///
/// - Parameter net: the network as `127.0.0.0/8` or `fd00::/8`.
/// - Returns: false if it is no network.
bool runtime_allow_net(const char *_Nonnull net);

/// Allows a range of ports at public addresses. At most 64 ranges are kept.
///
/// - Returns: false if there are too many.
bool runtime_allow_ports(uint16_t first, uint16_t last);

/// A transfer that ended, or that begins (`is_end` is false; only the URL is known then).
typedef struct {
  /// The number of the transfer, counted from 1.
  uint64_t number;
  bool is_end;
  const char *_Nullable url;
  const char *_Nullable type;
  const char *_Nullable address;
  long status;
  int64_t bytes;
  int64_t microseconds;
  /// libcurl's code; -1 for a transfer that was cancelled; `runtime_insecure` or `runtime_denied`.
  int code;
} runtime_transfer;

/// The failures of a URL of http where only https may be used, and of one whose host is denied.
enum { runtime_insecure = -2, runtime_denied = -3 };

/// Sets the function that learns of every transfer, on URLSession's own threads. For a transfer that begins, it returns 0, or why the transfer is refused.
void runtime_set_observer(int (*_Nullable observer)(const runtime_transfer *_Nonnull));

/// Returns why the last transfer of a URL failed. The last 64 failures are known.
///
/// - Parameter url: the URL as Foundation gave it to libcurl.
/// - Returns: libcurl's code, `runtime_insecure`, `runtime_denied`, or 0 if no failure is known.
int runtime_failure(const char *_Nonnull url);
