#!/bin/sh
# Mails an alert: the subject counts what happened, and the text has a line for each change and the address of the
# status page. In feedsyncd.yaml:
#
#   alerts:
#     - on: [rejected, held, failed, overdue, credentials, service, daemon]
#       exec: [/bin/sh, /usr/share/doc/feedsyncd/config/alert-mail.sh, ops@example.com, smtp://localhost]
#
# It needs curl, which sends the mail by SMTP to the given server. The packaged unit lets no program gain rights, so
# sendmail cannot work.
set -eu
to=${1:?the first argument is the address that gets the mail}
server=${2:-smtp://localhost}
host=$(hostname)
# A line of the text may be longer than the 998 bytes that mail allows, and some servers refuse such a mail: Base64.
{
  printf '%s\n' \
    "From: feedsyncd <feedsyncd@$host>" \
    "To: $to" \
    "Date: $(LC_ALL=C date '+%a, %d %b %Y %H:%M:%S %z')" \
    "Subject: $FEEDSYNCD_ALERT_SUBJECT" \
    "Message-ID: <$FEEDSYNCD_ALERT_ID@$host>" \
    'MIME-Version: 1.0' \
    'Content-Type: text/plain; charset=utf-8' \
    'Content-Transfer-Encoding: base64' \
    ''
  printf '%s\n' "$FEEDSYNCD_ALERT_TEXT" | base64
} |
  sed 's/$/\r/' |
  curl --silent --show-error --max-time 25 --url "$server" \
    --mail-from "feedsyncd@$host" --mail-rcpt "$to" --upload-file -
