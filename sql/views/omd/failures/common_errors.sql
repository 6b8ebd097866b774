-- Errors are grouped by the first line of their text, without the values in it. The span is fixed
-- because a condition on a group can't reach the index on the date.

CREATE OR REPLACE VIEW omd_report.common_errors AS
WITH recent AS (
    SELECT
        e.event_id,
        e.event_datetime,
        -- A line may be of any length, and the next steps look at each character.
        left(
            split_part(
                ltrim(
                    coalesce(
                        omd.error_text(e.event_return_code_details, e.event_detail),
                        e.event_return_code_details,
                        ''
                    ),
                    E' \t\r\n'
                ),
                E'\n',
                1
            ),
            2000
        ) AS message
    FROM omd.event_log AS e
    WHERE
        e.event_type_code IN (1, 2)
        AND e.event_datetime >= statement_timestamp() - interval '30 days'
),

-- An apostrophe within a word is not a quotation mark.
unquoted AS (
    SELECT
        r.event_id,
        r.event_datetime,
        regexp_replace(
            r.message, '"[^"]*"|`[^`]*`|(?<![[:alnum:]])''[^'']*''(?![[:alnum:]])', '?', 'g'
        ) AS message
    FROM recent AS r
),

normalised AS (
    SELECT
        u.event_id,
        u.event_datetime,
        left(
            regexp_replace(
                u.message,
                '\m(0x[0-9a-f]+|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{16,})\M|[0-9]+'
                || '([.,:-][0-9]+)*',
                '#',
                'gi'
            ),
            500
        ) AS message
    FROM unquoted AS u
),

grouped AS (
    SELECT
        n.message,
        count(*) AS event_count,
        min(n.event_datetime) AS first_datetime,
        max(n.event_datetime) AS last_datetime,
        max(n.event_id) AS last_event_id
    FROM normalised AS n
    GROUP BY n.message
)

SELECT
    g.message,
    g.event_count,
    g.first_datetime,
    g.last_datetime,
    l.event_return_code_details AS last_event_return_code_details,
    l.batch_instance_id AS last_batch_instance_id,
    l.module_instance_id AS last_module_instance_id
FROM grouped AS g
INNER JOIN omd.event_log AS l ON g.last_event_id = l.event_id;

COMMENT ON VIEW omd_report.common_errors IS
'For rooms: '
'The errors of the last 30 days, counted by message. The values in a message are replaced: ? '
'stands for something quoted, # for a number.';
COMMENT ON COLUMN omd_report.common_errors.message IS
'The first line of the message with its values replaced, at most 500 characters.';
COMMENT ON COLUMN omd_report.common_errors.event_count IS 'How often the message was written.';
COMMENT ON COLUMN omd_report.common_errors.first_datetime IS
'When the message was first written within the 30 days.';
COMMENT ON COLUMN omd_report.common_errors.last_datetime IS 'When the message was last written.';
COMMENT ON COLUMN omd_report.common_errors.last_event_return_code_details IS
'The code of the last such error; NULL when it has none.';
COMMENT ON COLUMN omd_report.common_errors.last_batch_instance_id IS
'The Batch Instance of the last such error; 0 when it has none.';
COMMENT ON COLUMN omd_report.common_errors.last_module_instance_id IS
'The Module Instance of the last such error; 0 when it has none.';
