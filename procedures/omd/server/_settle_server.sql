-- setval survives a rollback, and the rest does not. So what was settled is noted where it survives
-- too: in a sequence, after the others. Who settles the same again after a rollback sees it, and
-- sets only what is less than a million above what is stored. That alone would not do: numbers
-- whose rows were purged, and those that a second failover has lost, are stored nowhere. A cancel
-- between the two costs some numbers, and gives none twice.
--
-- A restart is noted by whom it costs nothing: who finds the row taken goes on. A change is waited
-- for, since no ID may be given before it is settled.

CREATE OR REPLACE FUNCTION omd._settle_server()
RETURNS text
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $settle_server$
DECLARE
    v_skip CONSTANT bigint := 1000000::bigint;
    v_change record;
    v_known omd.installation;
    v_present record;
    v_mark bigint;
BEGIN
    v_change := omd._change_of_server();
    IF v_change.kind IS NULL THEN
        RETURN NULL;
    ELSIF v_change.kind IN ('FIRST', 'RESTART') THEN
        -- At another level a row that changed since would be an error.
        IF current_setting('transaction_isolation') <> 'read committed' THEN
            RETURN v_change.kind;
        END IF;
        PERFORM FROM omd.installation AS i FOR UPDATE SKIP LOCKED;
        IF NOT FOUND THEN
            RETURN v_change.kind;
        END IF;
    ELSE
        PERFORM FROM omd.installation AS i FOR UPDATE;
    END IF;
    -- Another session may have settled it while this one waited.
    v_change := omd._change_of_server();
    IF v_change.kind IS NULL THEN
        RETURN NULL;
    END IF;
    SELECT i.* INTO STRICT v_known FROM omd.installation AS i;
    SELECT s.* INTO STRICT v_present FROM omd._server_now() AS s;

    IF v_change.is_behind THEN
        v_mark := hashtextextended(
            concat_ws(
                '/', v_known, v_present,
                (SELECT max(c.server_change_id) FROM omd.server_change AS c)
            ),
            0
        );
        PERFORM omd._skip_numbers(
            v_skip, pg_sequence_last_value('omd.settled_server') IS NOT DISTINCT FROM v_mark
        );
        PERFORM setval('omd.settled_server', v_mark);
        PERFORM omd._skip_counters(v_skip);
    END IF;
    IF v_change.kind NOT IN ('FIRST', 'RESTART') THEN
        PERFORM omd._clear_server_bound();
        INSERT INTO omd.server_change (
            kind, system_identifier, timeline_id, ids_skipped, is_asked
        )
        VALUES (
            v_change.kind,
            v_present.system_identifier,
            v_present.timeline_id,
            CASE WHEN v_change.is_behind THEN v_skip END,
            v_change.kind = 'FAILOVER' AND v_known.on_failover = 'ASK'
        );
        PERFORM omd.write_event(
            0, 0, 4, 'SERVER',
            format(
                'the server has changed (%s): it was %s on timeline %s, and is %s on timeline %s; %s',
                v_change.kind,
                v_known.system_identifier,
                coalesce(v_known.timeline_id::text, 'unknown'),
                v_present.system_identifier,
                v_present.timeline_id,
                CASE
                    WHEN v_change.is_behind
                        THEN format('%s numbers of each sequence are passed over', v_skip)
                    ELSE 'no number is passed over'
                END
            )
        );
    END IF;
    UPDATE omd.installation AS i SET
        system_identifier = v_present.system_identifier,
        database_oid = v_present.database_oid,
        timeline_id = v_present.timeline_id,
        server_start = v_present.server_start,
        table_oid = v_present.table_oid;
    RETURN v_change.kind;
END
$settle_server$;

COMMENT ON FUNCTION omd._settle_server IS
'Compares the server with what is noted, and settles what has changed, before an ID is given: see '
'settle_server. Returns the change; NULL: there was none, or this is a standby. Locks: the row of '
'omd.installation, for which only a change waits; the rows of _clear_server_bound; those of the '
'rooms.';
