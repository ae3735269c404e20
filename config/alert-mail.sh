#!/bin/sh
# Mails an alert. In feedsyncd.yaml:
#
#   alerts:
#     - on: [rejected, held, failed, overdue, credentials, daemon]
#       exec: [/bin/sh, /usr/share/doc/feedsyncd/config/alert-mail.sh, ops@example.com, smtp://localhost]
#
# It sends the mail by SMTP to the given server. The packaged unit lets no program gain rights, so sendmail cannot work.
set -eu
to=${1:?the first argument is the address that gets the mail}
server=${2:-smtp://localhost}
host=$(hostname)
printf '%s\r\n' \
  "From: feedsyncd <feedsyncd@$host>" \
  "To: $to" \
  "Subject: feedsyncd on $host: $FEEDSYNCD_ALERT_EVENT" \
  "Message-ID: <$FEEDSYNCD_ALERT_ID@$host>" \
  'MIME-Version: 1.0' \
  'Content-Type: text/plain; charset=utf-8' \
  'Content-Transfer-Encoding: 8bit' \
  '' \
  "$FEEDSYNCD_ALERT_TEXT" |
  curl --silent --show-error --max-time 25 --url "$server" \
    --mail-from "feedsyncd@$host" --mail-rcpt "$to" --upload-file -
