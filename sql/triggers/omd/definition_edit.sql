-- Changes of Batches and Modules are logged, but not their first registration, which the row itself
-- shows. Parameters, rollback templates and reference codes are logged from their first value on.

DO $do$
DECLARE
    v_events text;
    v_table text;
BEGIN
    FOR v_events, v_table IN
        VALUES
        ('UPDATE OF on_failover', 'installation'),
        ('UPDATE OR DELETE', 'batch'),
        ('UPDATE OR DELETE', 'module'),
        ('UPDATE OR DELETE', 'batch_module'),
        ('UPDATE OR DELETE', 'batch_hierarchy'),
        ('INSERT OR UPDATE OR DELETE', 'parameter'),
        ('INSERT OR UPDATE OR DELETE', 'batch_parameter'),
        ('INSERT OR UPDATE OR DELETE', 'module_parameter'),
        ('INSERT OR UPDATE OR DELETE', 'rollback_template'),
        ('INSERT OR UPDATE OR DELETE', 'area'),
        ('INSERT OR UPDATE OR DELETE', 'table_type'),
        ('INSERT OR UPDATE OR DELETE', 'event_type'),
        ('INSERT OR UPDATE OR DELETE', 'frequency')
    LOOP
        CALL omd.put_trigger(
            'omd.' || v_table,
            'trg_' || v_table || '_log',
            format(
                'AFTER %s ON {table} FOR EACH ROW EXECUTE FUNCTION omd._log_definition_edit()',
                v_events
            )
        );
        EXECUTE format(
            'COMMENT ON TRIGGER %I ON omd.%I IS %L',
            'trg_' || v_table || '_log', v_table, 'Writes each change to the event log.'
        );
    END LOOP;
END
$do$;
